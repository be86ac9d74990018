/* Returns early at its events, and cannot go back. */

#define TOKEN "{vecud-legacy-1}"
#define PREDICTS 0
