/* All of the library: FMI 1.0 has no list of sources, and its names begin with the model identifier. */

#define MODEL_IDENTIFIER punctual_fmi1

#include "equations.c"
#include "punctual.c"
#include "fmi1_equations.c"
