/* Returns early at its events, and can go back. */

#define TOKEN "{vecud-rejecting-1}"
#define PREDICTS 0
