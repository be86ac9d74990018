/* As many states and event indicators as the model Robot of C. Andersson's thesis (Lund, 2010) has. */

#define TOKEN "{vecud-scale-1}"
#define STATES 36
#define INDICATORS 98
