/* As many states and event indicators as the model TwinEvap of C. Andersson's thesis (Lund, 2010) has. */

#define TOKEN "{vecud-scale_large-1}"
#define STATES 130
#define INDICATORS 1090
