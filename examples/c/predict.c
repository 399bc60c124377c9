/* Loads a model and says the class, decision values and probabilities of samples, given as arguments: numbers for a
   model of vectors, else texts.

   cc predict.c -I crates/widemargin-c/include -L target/release -lwidemargin_c -o predict
   ./predict MODEL 5.1 3.5 1.4 0.2          one vector of four features
   ./predict MODEL "first text" "second"    two texts */
#include <stdio.h>
#include <stdlib.h>

#include "widemargin.h"

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, widemargin_error());
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s MODEL SAMPLE...\n", argv[0]);
        return 2;
    }
    WidemarginModel *model = widemargin_load(argv[1]);
    if (model == NULL) return fail("cannot load the model");

    size_t n_classes = widemargin_n_classes(model), n_values = widemargin_n_decision_values(model);
    size_t n_features = widemargin_n_features(model), n_given = (size_t)(argc - 2);
    size_t n = n_features ? 1 : n_given;
    size_t *classes = calloc(n, sizeof *classes);
    double *values = calloc(n * n_values, sizeof *values);
    double *probabilities = calloc(n * n_classes, sizeof *probabilities);
    int failed;
    if (n_features) {
        double *vector = calloc(n_given, sizeof *vector);
        for (size_t i = 0; i < n_given; i++) vector[i] = strtod(argv[2 + i], NULL);
        failed = widemargin_predict(model, vector, 1, n_given, classes) ||
                 widemargin_decision_function(model, vector, 1, n_given, values) ||
                 widemargin_predict_proba(model, vector, 1, n_given, probabilities);
        free(vector);
    } else {
        const char *const *texts = (const char *const *)(argv + 2);
        failed = widemargin_predict_strings(model, texts, n, classes) ||
                 widemargin_decision_function_strings(model, texts, n, values) ||
                 widemargin_predict_proba_strings(model, texts, n, probabilities);
    }
    if (!failed) {
        for (size_t i = 0; i < n; i++) {
            printf("%s", widemargin_class_name(model, classes[i]));
            for (size_t j = 0; j < n_values; j++) printf(" %.17g", values[i * n_values + j]);
            for (size_t j = 0; j < n_classes; j++) printf(" %.17g", probabilities[i * n_classes + j]);
            printf("\n");
        }
    }
    free(classes);
    free(values);
    free(probabilities);
    int status = failed ? fail("cannot predict") : 0;
    widemargin_free(model);
    return status;
}
