/* All of the library: FMI 1.0 has no list of sources, and its names begin with the model identifier. */

#define MODEL_IDENTIFIER inc_fmi1

#include "equations.c"
#include "inc.c"
#include "fmi1_equations.c"
