/* The released dialect of FMI 3.0: its functions, and what every example FMU has. */

#ifndef dialect_h
#define dialect_h

#include "fmi3_base.h"

#endif
