/* Tells its next event, and makes no step beyond it. */

#define TOKEN "{vecud-predicting-1}"
#define PREDICTS 1
