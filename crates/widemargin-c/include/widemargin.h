/* Widemargin: loads models and predicts. Written by cbindgen from crates/widemargin-c/src/lib.rs.

   Functions that return int return 0 on success and -1 on failure; those that return a pointer return NULL on failure.
   Afterwards widemargin_error() has the message, until the same thread calls another function. A model may be used by
   several threads at once; it must not be freed while another thread uses it. */

#ifndef WIDEMARGIN_H
#define WIDEMARGIN_H

#include <stddef.h>

/*
 A loaded model: a classifier, a regression model or an outlier detector. An outlier detector has the two classes -1
 (outliers) and 1 (inliers), and no probabilities.
 */
typedef struct WidemarginModel WidemarginModel;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The message of the last call that failed on this thread, in UTF-8; an empty text if none failed. Every thread has its
 own. The pointer is valid until the thread calls another function of this library, or ends: copy the text to keep it.
 */
const char *widemargin_error(void);

/*
 The version of the library.
 */
const char *widemargin_version(void);

/*
 Loads a model of any method from a file; the path is UTF-8. Free it with widemargin_free.

 # Safety
 `path` is a text that ends with a 0.
 */
WidemarginModel *widemargin_load(const char *path);

/*
 Frees a model; NULL is allowed.

 # Safety
 `model` is NULL, or was returned by widemargin_load and is not freed yet.
 */
void widemargin_free(WidemarginModel *model);

/*
 The number of classes; 0 for a regression model, and on failure.

 # Safety
 `model` is NULL or a model.
 */
size_t widemargin_n_classes(const WidemarginModel *model);

/*
 The number of targets of a regression model; 0 for other models, and on failure.

 # Safety
 `model` is NULL or a model.
 */
size_t widemargin_n_targets(const WidemarginModel *model);

/*
 The number of features of a model of vectors; 0 for a model of other samples, and on failure.

 # Safety
 `model` is NULL or a model.
 */
size_t widemargin_n_features(const WidemarginModel *model);

/*
 The name of a feature, from 0, in UTF-8; valid until the model is freed. NULL if the features have no names, and on
 failure.

 # Safety
 `model` is NULL or a model.
 */
const char *widemargin_feature_name(const WidemarginModel *model, size_t index);

/*
 The number of decision values per sample: 1 for two classes (positive for the second), otherwise one per class; 0 for a
 regression model, and on failure.

 # Safety
 `model` is NULL or a model.
 */
size_t widemargin_n_decision_values(const WidemarginModel *model);

/*
 The name of a class, from 0, in UTF-8; valid until the model is freed.

 # Safety
 `model` is NULL or a model.
 */
const char *widemargin_class_name(const WidemarginModel *model, size_t index);

/*
 The predicted class of each of n_rows vectors, row-major, as its index into `classes`.

 # Safety
 `model` is NULL or a model; `values` holds n_rows × n_columns numbers, and n_rows may be written to `classes`.
 */
int widemargin_predict(const WidemarginModel *model,
                       const double *values,
                       size_t n_rows,
                       size_t n_columns,
                       size_t *classes);

/*
 The decision values of each of n_rows vectors: n_rows × widemargin_n_decision_values, row-major.

 # Safety
 `model` is NULL or a model; `values` holds n_rows × n_columns numbers, and n_rows × widemargin_n_decision_values may be
 written to `decision_values`.
 */
int widemargin_decision_function(const WidemarginModel *model,
                                 const double *values,
                                 size_t n_rows,
                                 size_t n_columns,
                                 double *decision_values);

/*
 The probability of each class of each of n_rows vectors: n_rows × widemargin_n_classes, row-major.

 # Safety
 `model` is NULL or a model; `values` holds n_rows × n_columns numbers, and n_rows × widemargin_n_classes may be written
 to `probabilities`.
 */
int widemargin_predict_proba(const WidemarginModel *model,
                             const double *values,
                             size_t n_rows,
                             size_t n_columns,
                             double *probabilities);

/*
 The predicted targets of each of n_rows vectors by a regression model: n_rows × widemargin_n_targets, row-major.

 # Safety
 `model` is NULL or a model; `values` holds n_rows × n_columns numbers, and n_rows × widemargin_n_targets may be written
 to `targets`.
 */
int widemargin_predict_targets(const WidemarginModel *model,
                               const double *values,
                               size_t n_rows,
                               size_t n_columns,
                               double *targets);

/*
 As widemargin_predict, for n texts in UTF-8.

 # Safety
 `model` is NULL or a model; `texts` holds n texts that end with a 0, and n numbers may be written to `classes`.
 */
int widemargin_predict_strings(const WidemarginModel *model, const char *const *texts, size_t n, size_t *classes);

/*
 As widemargin_decision_function, for n texts in UTF-8.

 # Safety
 `model` is NULL or a model; `texts` holds n texts that end with a 0, and n × widemargin_n_decision_values numbers may be
 written to `decision_values`.
 */
int widemargin_decision_function_strings(const WidemarginModel *model,
                                         const char *const *texts,
                                         size_t n,
                                         double *decision_values);

/*
 As widemargin_predict_proba, for n texts in UTF-8.

 # Safety
 `model` is NULL or a model; `texts` holds n texts that end with a 0, and n × widemargin_n_classes numbers may be written
 to `probabilities`.
 */
int widemargin_predict_proba_strings(const WidemarginModel *model,
                                     const char *const *texts,
                                     size_t n,
                                     double *probabilities);

/*
 As widemargin_predict_targets, for n texts in UTF-8.

 # Safety
 `model` is NULL or a model; `texts` holds n texts that end with a 0, and n × widemargin_n_targets numbers may be written
 to `targets`.
 */
int widemargin_predict_targets_strings(const WidemarginModel *model,
                                       const char *const *texts,
                                       size_t n,
                                       double *targets);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WIDEMARGIN_H */
