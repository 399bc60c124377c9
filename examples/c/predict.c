/* Loads a model and prints the predictions of samples, which are arguments: numbers for a model of vectors, otherwise
   texts. It prints the targets of a regression model; of other models the class, decision values and, if there are any,
   probabilities. Without samples, prints the names of the features.

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

static void print(const double *rows, size_t row, size_t width) {
    for (size_t j = 0; j < width; j++) printf(" %.17g", rows[row * width + j]);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s MODEL SAMPLE...\n", argv[0]);
        return 2;
    }
    WidemarginModel *model = widemargin_load(argv[1]);
    if (model == NULL) return fail("cannot load the model");

    size_t n_features = widemargin_n_features(model), n_arguments = (size_t)(argc - 2);
    if (n_arguments == 0) {
        for (size_t j = 0; j < n_features; j++) {
            const char *name = widemargin_feature_name(model, j);
            printf("%s\n", name ? name : "unnamed");
        }
        widemargin_free(model);
        return 0;
    }

    const char *const *texts = (const char *const *)(argv + 2);
    double *vector = calloc(n_arguments, sizeof *vector);
    for (size_t i = 0; i < n_arguments; i++) vector[i] = strtod(texts[i], NULL);
    size_t n = n_features ? 1 : n_arguments, n_targets = widemargin_n_targets(model);
    int failed;
    if (n_targets) {
        double *targets = calloc(n * n_targets, sizeof *targets);
        failed = n_features ? widemargin_predict_targets(model, vector, 1, n_arguments, targets)
                            : widemargin_predict_targets_strings(model, texts, n, targets);
        for (size_t i = 0; i < n && !failed; i++) {
            print(targets, i, n_targets);
            printf("\n");
        }
        free(targets);
    } else {
        size_t n_classes = widemargin_n_classes(model), n_values = widemargin_n_decision_values(model);
        size_t *classes = calloc(n, sizeof *classes);
        double *values = calloc(n * n_values, sizeof *values);
        double *probabilities = calloc(n * n_classes, sizeof *probabilities);
        int uncalibrated;
        if (n_features) {
            failed = widemargin_predict(model, vector, 1, n_arguments, classes) ||
                     widemargin_decision_function(model, vector, 1, n_arguments, values);
            uncalibrated = failed || widemargin_predict_proba(model, vector, 1, n_arguments, probabilities);
        } else {
            failed = widemargin_predict_strings(model, texts, n, classes) ||
                     widemargin_decision_function_strings(model, texts, n, values);
            uncalibrated = failed || widemargin_predict_proba_strings(model, texts, n, probabilities);
        }
        for (size_t i = 0; i < n && !failed; i++) {
            printf("%s", widemargin_class_name(model, classes[i]));
            print(values, i, n_values);
            if (!uncalibrated) print(probabilities, i, n_classes);
            printf("\n");
        }
        free(classes);
        free(values);
        free(probabilities);
    }
    free(vector);
    int status = failed ? fail("cannot predict") : 0;
    widemargin_free(model);
    return status;
}
