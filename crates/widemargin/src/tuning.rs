//! Tuned constants: numbers that were measured or chosen, and change the result or the speed of a fit. A decision is a
//! file `docs/dev/decisions/NNNN-….md`, which has the figures.

use std::time::Duration;

// Newton's method for linear models

/// Fraction of rᵀM⁻¹r that conjugate gradients leave in the first step (decision 0026).
pub(crate) const FIRST_CG_RESIDUAL: f64 = 1e-2;
/// Newton steps after which that fraction is a tenth (decision 0026).
pub(crate) const CG_STEPS_PER_TENTH: f64 = 4.0;
/// Least fraction of rᵀM⁻¹r that conjugate gradients leave.
pub(crate) const MIN_CG_RESIDUAL: f64 = 1e-10;
/// Fraction of the allowed gap at which conjugate gradients stop.
pub(crate) const CG_SHARE_OF_GAP: f64 = 0.1;
/// Hessian products per step, at most.
pub(crate) const MAX_CG_PRODUCTS: u32 = 1000;
/// Mean eigenvalue of the losses' Hessian at the start of a penalty path, in units of the penalty (decision 0005).
pub(crate) const FIRST_HESSIAN_TO_PENALTY: f64 = 10.0;
/// Factor by which the penalty of a path falls per step (decision 0005).
pub(crate) const PENALTY_PATH_FACTOR: f64 = 3.0;
/// Rows per feature above which there is no penalty path (decision 0005).
pub(crate) const PENALTY_PATH_ROWS_PER_FEATURE: usize = 20;
/// Fraction of its initial value below which a derivative along a line counts as 0.
pub(crate) const LINE_SEARCH_SLOPE_TOL: f64 = 1e-2;
/// Features of a Gram matrix, at most: it and its factor take 1 GiB each.
pub(crate) const MAX_GRAM_SIZE: usize = 16_384;
/// Active rows per feature up to which the Woodbury identity inverts the Hessian (decision 0005).
pub(crate) const WOODBURY_ROWS_PER_FEATURE: f64 = 0.618;
/// Rounding of single-precision products in units of the least p/h, at most (decision 0028).
pub(crate) const MAX_WOODBURY_ROUNDING: f64 = 0.05;
/// Passes that a diagonal preconditioner is expected to need: a Gram matrix that costs less is computed at once.
pub(crate) const PASSES_WITHOUT_GRAM: f64 = 150.0;
/// Steps without progress after which a problem is abandoned (decision 0026).
pub(crate) const NEWTON_PATIENCE: u32 = 10;
/// Gap relative to the least before it that counts as progress (decision 0026).
pub(crate) const GAP_PROGRESS: f64 = 0.9;
/// Decrease of the objective that counts as progress, in units of the allowed gap (decision 0026).
pub(crate) const NEWTON_PROGRESS: f64 = 0.01;
/// Relative gap up to which the model of a stopped solver is close to the complete one.
pub(crate) const MAX_GAP_OF_NEAR_SOLUTION: f64 = 0.1;

// Residual losses and ridge regression

/// Width of the first rounded loss, in units of the mean of |y| (decision 0026).
pub(crate) const FIRST_WIDTH_OF_ROUNDED_LOSS: f64 = 0.5;
/// Relative gap of rounded losses.
pub(crate) const TOL_OF_ROUNDED_LOSS: f64 = 1e-7;
/// Newton steps of a regression at one C, at most.
pub(crate) const MAX_STEPS_OF_OUTPUTS: u32 = 500;
/// Factor from one width to the next (decision 0026).
pub(crate) const WIDTH_FACTOR_OF_ROUNDED_LOSS: f64 = 0.5;
/// Huber's ε in spreads of the residuals: 95 % as efficient as least squares where these are normal.
pub(crate) const HUBER_EPSILON_IN_SPREADS: f64 = 1.35;
/// Relative singular value from which a direction of the unpenalized part is determined (decision 0028).
pub(crate) const MIN_SINGULAR_VALUE: f64 = 1e-10;
/// Features for which workers and readers add up the products of all pairs, at most (decision 0029).
pub(crate) const MAX_PARTED_FEATURES: usize = 8192;

// Paths of C

/// C of a path of least squares, in units of one over the kernel's mean diagonal and quarter decades.
pub(crate) const LEAST_SQUARES_PATH: std::ops::RangeInclusive<i32> = -16..=11;
/// Values of C per decade of a path.
pub(crate) const C_PER_DECADE: i32 = 4;
/// The same for ridge regression, whose values of C cost least.
pub(crate) const RIDGE_C_PER_DECADE: i32 = 8;
/// Least λ of a path, in units of the mean squared norm of the centered features.
pub(crate) const MIN_PATH_LAMBDA: f64 = 1e-7;
/// First λ of a thin plate path; like all of that path in scale-free units, and in half decades.
pub(crate) const LAMBDA_PATH_START: i32 = -4;
/// First λ under a time limit, for which a classifier is smooth (decision 0026).
pub(crate) const DEAR_PATH_START: i32 = 0;
/// Least λ of a path.
pub(crate) const LAMBDA_PATH_LOWEST: i32 = -16;
/// Least λ of a path on features: below it leverages tend to 1, where the closed form is undetermined.
pub(crate) const FEATURE_PATH_LOWEST: i32 = -6;
/// Least λ of the path of a regression, which may follow each sample.
pub(crate) const LOWEST_LAMBDA_OF_OUTPUTS: i32 = -14;
/// Largest λ of a path.
pub(crate) const LAMBDA_PATH_HIGHEST: i32 = 8;
/// Steps of a path beyond the least leave-one-out loss.
pub(crate) const LAMBDA_PATH_PATIENCE: i32 = 3;
/// The same where it begins at the λ selected for similar features.
pub(crate) const LAMBDA_PATH_PATIENCE_NEAR: i32 = 1;
/// Rise of the loss above the least, relative to it, at which a path ends while it rises (decision 0026).
pub(crate) const LAMBDA_PATH_STEEP: f64 = 0.1;
/// Relative decrease of the loss, over as many steps, below which a path to small λ ends (decision 0026).
pub(crate) const LAMBDA_PATH_LEVEL: f64 = 1e-3;
/// Candidates confirmed in addition to the best one, at most.
pub(crate) const MAX_CONFIRMED_LAMBDAS: usize = 3;

// Coordinate descent

/// Share of the gap that an epoch leaves, at least, as measured on histograms.
pub(crate) const MIN_GAP_LEFT_BY_EPOCH: f64 = 0.5;
/// Factor of the gap after a premature exact pass (decision 0026).
pub(crate) const GAP_AFTER_PREMATURE_PASS: f64 = 0.7;
/// Epochs after which an exact pass follows in any case (decision 0026).
pub(crate) const EPOCHS_PER_EXACT_PASS: u32 = 64;
/// Epochs after which a problem on sparse features is left to Newton's method (decision 0015).
pub(crate) const SPARSE_EPOCHS: u32 = 60;
/// Passes over the non-zero weights between two passes over all.
pub(crate) const L1_INNER_PASSES: u32 = 10;

// Power mean SVM

/// Samples on which kernels of the power mean SVM are compared (decision 0027).
pub(crate) const POWER_SAMPLES: usize = 500;
/// Candidates for p, in order of preference (decision 0012).
pub(crate) const POWERS: [f64; 7] = [-1.0, -0.5, -2.0, 0.0, -4.0, -8.0, f64::NEG_INFINITY];
/// Loss of the selected p above the least, at most, relative to it (decision 0012).
pub(crate) const MAX_LOSS_OF_POWER: f64 = 0.05;
/// Relative increase of the loss by a reduced kernel, at most.
pub(crate) const MAX_LOSS_OF_NODES: f64 = 0.005;
/// Loss of the selected C above the least, at most, relative to it (decision 0012).
pub(crate) const MAX_LOSS_OF_C: f64 = 0.02;
/// Distinct values beyond which they hardly repeat.
pub(crate) const MAX_STORED_VALUES: usize = 1 << 14;
/// Coordinates up to which the factors of all Hessians take less time than a fit without some rows.
pub(crate) const MAX_HESSIAN_COORDINATES: usize = 2048;
/// Numbers that the rows of a problem take for leave-one-out, at most.
pub(crate) const MAX_HESSIAN_NUMBERS: usize = 1 << 28;
/// Epochs of coordinate descent before Newton's method takes over (decision 0026).
pub(crate) const PRIMAL_EPOCHS: u32 = 100;
/// The same of many coordinates for the number of rows (decision 0026).
pub(crate) const PRIMAL_EPOCHS_IF_WIDE: u32 = 300;
/// Rows per coordinate from which coordinates count as few.
pub(crate) const MIN_ROWS_PER_COORDINATE: usize = 4;
/// Newton steps that a problem is expected to take.
pub(crate) const EXPECTED_NEWTON_STEPS: f64 = 20.0;
/// Multiply-adds of a matrix product in the time of a non-zero of descent, half a nanosecond.
pub(crate) const PRODUCTS_PER_NONZERO: f64 = 40.0;
/// Bytes of explicit φ(x) above which descent continues alone; as u64, since 32 bits cannot represent it.
pub(crate) const MAX_PRIMAL_BYTES: u64 = 4 << 30;
/// Representative values among which nodes are searched: the loss is smooth in log c.
pub(crate) const NODE_GRID: usize = 128;
/// Rounds of exchange of nodes; two or three usually suffice.
pub(crate) const NODE_ROUNDS: usize = 4;

// Thin plate splines

/// Distance to the margin, relative to the scores, at which violators may differ for any tolerance (decision 0028).
pub(crate) const MARGIN_ROUNDING: f64 = 1e-13;
/// Violation of the optimality conditions that counts as solved where rounding prevents a smaller one.
pub(crate) const STALLED_KKT_TOL: f64 = 1e-8;
/// Steps that lower the objective by rounding at most, after which a problem is abandoned.
pub(crate) const STALLED_STEPS: u32 = 20;
/// Length of the shortest step: rounding must not stop a search along a descent direction.
pub(crate) const MIN_STEP_LENGTH: f64 = 1e-9;
/// Fraction of its terms below which a derivative along a line counts as 0.
pub(crate) const THIN_PLATE_SLOPE_TOL: f64 = 1e-14;
/// Factor by which λ falls between steps of a head start.
pub(crate) const HEAD_FACTOR: f64 = 5.0;
/// Steps of a head start, at most.
pub(crate) const MAX_HEAD_START_STEPS: f64 = 8.0;
/// Samples on which a problem is solved first, then on twice as many (decision 0003).
pub(crate) const FIRST_PART_SAMPLES: usize = 500;
/// Newton steps on a part of the samples, after the head start.
pub(crate) const MAX_PART_STEPS: u32 = 6;
/// Newton steps after which data count as not separated.
pub(crate) const MAX_STEPS_TO_SEPARATE: u32 = 60;
/// Samples up to which leave-one-out at the selected C is by refits (decision 0028).
pub(crate) const MAX_REFITTED_SAMPLES: usize = 10_000;
/// Samples per polynomial from which `auto` leaves the polynomials free (decision 0008).
pub(crate) const SAMPLES_PER_FREE_POLYNOMIAL: usize = 100;
/// Newton steps for each candidate for C on features, at most.
pub(crate) const MAX_STEPS_OF_CANDIDATE: u32 = 100;
/// Violation of the optimality conditions at which candidates for C on features are compared.
pub(crate) const MAX_VIOLATION_OF_CANDIDATE: f64 = 1e-8;
/// Ratio of spreads from which columns may have different units.
pub(crate) const UNEVEN_SPREADS: f64 = 3.0;
/// Kurtosis of a column with heavy tails, the part of the columns that have them where ranks are candidates, and the
/// distinct values up to which a column may be of categories (decision 0034).
pub(crate) const HEAVY_KURTOSIS: f64 = 15.0;
pub(crate) const HEAVY_COLUMNS: f64 = 0.2;
pub(crate) const MAX_CATEGORIES: usize = 10;
/// Ratio of spreads from which there is a warning.
pub(crate) const DISTANT_SPREADS: f64 = 30.0;
/// Scale-free λ that hold for other scalings too: where samples are separated, all small ones do alike.
pub(crate) const TRANSFERABLE_LAMBDAS: std::ops::Range<f64> = 1e-4..10.0;
/// Relative gap between the objectives up to which a thin plate fit counts as solved.
pub(crate) const MAX_SOLVED_GAP: f64 = 1e-6;
/// Samples up to which a comparison of methods fits the exact thin plate SVM (decision 0027).
pub(crate) const AUTO_EXACT_SAMPLES: usize = 4000;

// Leave-one-out

/// 1 − leverage below which a leave-one-out value is undetermined by the other samples (decision 0028).
pub(crate) const MIN_RESIDUAL_LEVERAGE: f64 = 1e-9;
/// The same of rows in blocks (decision 0028).
pub(crate) const MIN_RESIDUAL_LEVERAGE_IN_BLOCKS: f64 = 1e-10;
/// Least λ for which rank-one changes are used, in units of the kernel's mean diagonal.
pub(crate) const MIN_RANK_ONE_LAMBDA: f64 = 1e-7;
/// Flops of all factorizations where rank-one changes fail: about half a second.
pub(crate) const MAX_REFACTOR_FLOPS: u64 = 4_000_000_000;
/// Factorizations that are always allowed: a path of C takes about as many.
pub(crate) const MIN_REFACTORIZATIONS: u64 = 50;
/// Relative error of the products of equal rows that are centered afterwards (decision 0028).
pub(crate) const PRODUCT_ROUNDING: f64 = 64.0 * f64::EPSILON;

// Estimates and calibration

/// Folds of cross-validation.
pub(crate) const N_FOLDS: u32 = 5;
/// Share of the training weight in classes with held-out samples below which there is no estimate (decision 0030).
pub(crate) const MIN_HELD_OUT_COVERAGE: f64 = 0.9;
/// Number of samples whose errors count as independent, at least.
pub(crate) const MIN_INDEPENDENT_SAMPLES: f64 = 100.0;
/// Rows of a part whose leave-one-out decision values calibrate probabilities: those of one machine suffice.
pub(crate) const MAX_ROWS_TO_CALIBRATE: usize = 2048;
/// Least temperature slope, in units of one over the root mean square of the decision values.
pub(crate) const MIN_TEMPERATURE_SLOPE: f64 = 1e-3;
/// Largest temperature slope, in the same unit.
pub(crate) const MAX_TEMPERATURE_SLOPE: f64 = 1e6;
/// Least of the three slopes, in units of the temperature's.
pub(crate) const MIN_OF_THREE_SLOPES: f64 = 0.05;
/// Weight of the penalty ½ (s/a − 1)² on each of three slopes, in samples (decision 0014).
pub(crate) const SLOPE_PENALTY: f64 = 1.0;
/// Relative gap of fits that are compared or estimated from, and not returned.
pub(crate) const COMPARISON_TOL: f64 = 1e-2;
/// The same of dual descent and the 1-norm, which take more passes.
pub(crate) const SLOW_COMPARISON_TOL: f64 = 5e-2;
/// Relative gap of a path of C that is judged on held-out samples.
pub(crate) const HELD_OUT_PATH_TOL: f64 = 3e-2;
/// Relative gap of Newton fits without some rows of the power mean SVM.
pub(crate) const PRIMAL_HELD_OUT_TOL: f64 = 1e-1;
/// Samples from which on the estimate of the best of several similarities is within three standard errors of new samples'
/// (decision 0030).
pub(crate) const MIN_SAMPLES_OF_SELECTED_ESTIMATE: usize = 150;
/// The same where the columns were weighted on these samples (decision 0030).
pub(crate) const MIN_SAMPLES_OF_WEIGHTED_ESTIMATE: usize = 400;
/// Samples held out of a fit, at most (decision 0030).
pub(crate) const MAX_HELD_OUT: usize = 2000;
/// Samples held out of a path, at most (decision 0030).
pub(crate) const MAX_HELD_OUT_OF_PATH: usize = 4000;
/// Decision values of held-out samples that are requested from refits (decision 0030).
pub(crate) const HELD_OUT_VALUES: usize = 5000;
/// The same of slow solvers.
pub(crate) const SLOW_HELD_OUT_VALUES: usize = 2000;
/// Refits without a tenth of the samples, at most.
pub(crate) const MAX_REFITS: usize = 10;
/// Held-out rows for the sigmoid of one problem (decision 0030).
pub(crate) const SIGMOID_ROWS: usize = 500;
/// The same for slopes that many classes share.
pub(crate) const SHARED_SIGMOID_ROWS: usize = 250;
/// Fits for them, at most.
pub(crate) const MAX_HELD_OUT_FITS: usize = 5;
/// Decision values of one fit, at most (decision 0030).
pub(crate) const MAX_HELD_OUT_VALUES: usize = 10_000;
/// Ends of a path of C that is judged on held-out samples, in half decades from where it begins.
pub(crate) const HELD_OUT_PATH_WIDTH: i32 = 6;
/// λ where it begins, in units of the mean squared norm of the centered features.
pub(crate) const HELD_OUT_PATH_START: f64 = 1.0;
/// Samples for each distinct one from which equal ones are independent draws for an outlier detector (decision 0030).
pub(crate) const MIN_DRAWS_OF_CONTENT: f64 = 8.0;
/// Samples that are no bases from which these set the threshold of an outlier detector, not all; the same of centered
/// features.
pub(crate) const MIN_THRESHOLD_SAMPLES: usize = 20;
pub(crate) const MIN_CENTERED_OTHERS: usize = 10;
/// Relative gap of regressions without a fold.
pub(crate) const FOLD_TOL: f64 = 1e-3;
/// Estimated relative gap of dual descent without some rows (decision 0026).
pub(crate) const DUAL_HELD_OUT_TOL: f64 = 0.03;

// Automatic selection

/// Samples on which candidates are compared (decision 0027).
pub(crate) const SELECTION_SAMPLES: usize = 1000;
/// Samples on which candidates of a regression are compared, with all of them as bases (decision 0027).
pub(crate) const SELECTION_TARGETS: usize = 400;
/// Bases of candidates that are compared by labels, at most.
pub(crate) const SELECTION_BASES: usize = 500;
/// Loss in units of the least beyond which a candidate is not pursued.
pub(crate) const MAX_PURSUED_LOSS: f64 = 1.25;
/// Steps of a factor of two by which a scale is changed in one direction, at most.
pub(crate) const MAX_SCALE_STEPS: usize = 8;
/// Fraction of the loss that a step must save for another to be worth its time.
pub(crate) const MIN_SCALE_GAIN: f64 = 0.01;
/// Samples on which the basis expansion selects C by leave-one-out (decision 0027).
pub(crate) const C_SAMPLES: usize = 2000;
/// Bases, for all similarities together, up to which all samples of a table are (decision 0027).
pub(crate) const MAX_SAMPLES_AS_BASES: usize = 4000;
/// Numbers of a matrix for the squared error in closed form, at most: 1 GiB each, two or three at a time.
pub(crate) const MAX_SQUARED_LOSS_NUMBERS: usize = 1 << 27;
/// Samples per class whose accuracy can be distinguished from chance, at least (decision 0030).
pub(crate) const SAMPLES_PER_CLASS: usize = 10;
/// Relative loss behind the best similarity from which the thin plate SVM is not tried (decision 0027).
pub(crate) const MAX_THIN_PLATE_LAG: f64 = 0.05;
/// Samples from which candidates are tried on a part of them first (decision 0027).
pub(crate) const MIN_SCREENED_SAMPLES: usize = 400;
/// One in this many samples is in that part.
pub(crate) const SCREENING_ONE_IN: usize = 4;
/// The same of a regression: the samples from which, and the samples of the part (decision 0027).
pub(crate) const MIN_SCREENED_TARGETS: usize = 301;
pub(crate) const SCREENED_TARGETS: usize = 200;
/// Samples on which bases are counted, at least and at most (decision 0027).
pub(crate) const BASIS_COUNT_SAMPLES: (usize, usize) = (2000, 4000);
/// Decrease of the error by twice as many bases from which twice as many again are used (decision 0027).
pub(crate) const REDOUBLING_GAIN: f64 = 0.02;
/// Samples up to which equal ones are merged before a search (decision 0027).
pub(crate) const MAX_MERGED_SAMPLES: usize = 10_000;
/// Two-class problems from which ridge regression judges features (decision 0027).
pub(crate) const MIN_RIDGE_PROBLEMS: usize = 3;
/// Difference of losses on every sample below which two candidates are one.
pub(crate) const SAME_LOSS_TOL: f64 = 1e-4;
/// Similarities that are joined, at most.
pub(crate) const MAX_JOINED: usize = 3;
/// Fraction of the loss that each of them must save.
pub(crate) const MIN_JOIN_GAIN: f64 = 0.01;
/// Standard errors from which a difference of losses is clear.
pub(crate) const CLEAR_DIFFERENCE: f64 = 2.0;
/// Fraction of the loss that a candidate of a multiple of the cost must save (decision 0013).
pub(crate) const COSTLY_LOSS_GAIN: f64 = 0.1;
/// Decrease of the error by which it is also selected (decision 0013).
pub(crate) const COSTLY_ERROR_GAIN: f64 = 0.005;
/// Loss in a first look, in units of the least, up to which candidates are tried on all samples (decision 0027).
pub(crate) const PROMISING_LOSS: f64 = 1.05;
/// Best candidates whose scale is changed again on all samples (decision 0027).
pub(crate) const RESCALED_FINALISTS: usize = 2;
/// Seconds of a pair from which bases are compared with each other once only, and numbers that are then held twice.
pub(crate) const MIN_SECONDS_TO_COMPARE_ONCE: f64 = 2e-8;
pub(crate) const MAX_NUMBERS_BETWEEN_BASES: usize = 1 << 25;
/// Characters of a string on average from which longer n-grams are tried.
pub(crate) const SHORT_STRING: usize = 20;
/// Characters from which they are too many.
pub(crate) const LONG_STRING: usize = 500;
/// Relative difference up to which standard deviations of series are the same, and averages 0.
pub(crate) const SAME_SCALE: f64 = 1e-3;

// Weights of columns

/// Samples from which weights of columns are learned from labels (decision 0027).
pub(crate) const MIN_ROWS_TO_WEIGH: usize = 300;
/// Samples for each column: with fewer the weights follow the noise.
pub(crate) const MIN_ROWS_PER_COLUMN: usize = 10;
/// Numbers of columns for which scales are tried in a regression (decision 0027).
pub(crate) const WEIGHTED_COLUMNS: std::ops::RangeInclusive<usize> = 2..=100;
/// Evaluations of the likelihood for a scale of all columns.
pub(crate) const TIED_EVALUATIONS: usize = 30;
/// Those for a scale of each column.
pub(crate) const SCALE_EVALUATIONS: usize = 50;
/// Those that start at the scales of the first look.
pub(crate) const FURTHER_EVALUATIONS: usize = 20;
/// Logarithm of the odds from which columns have scales of their own: 20 to 1 (decision 0018).
pub(crate) const MIN_LOG_ODDS: f64 = 3.0;
/// Noise from which scales are learned, in units of the amplitude.
pub(crate) const FIRST_NOISE: f64 = 0.1;
/// Factors by which a scale may leave the largest one of the start.
pub(crate) const SCALE_RANGE: (f64, f64) = (1e-6, 1e4);
/// Least and largest noise, in units of the amplitude (decision 0018).
pub(crate) const NOISE_RANGE: (f64, f64) = (1e-4, 1e2);
/// Logarithm of the likelihood by which evaluations must raise it for more to be worth their time.
pub(crate) const MIN_LIKELIHOOD_GAIN: f64 = 0.02;
/// Evaluations without such a gain after which the search ends.
pub(crate) const LIKELIHOOD_PATIENCE: usize = 4;
/// The part of the time of a search that column weights may take, before any candidate is tried.
pub(crate) const COLUMN_WEIGHT_TIME_SHARE: f64 = 0.25;
/// Added to the weights, in units of the largest, so that no column is lost.
pub(crate) const COLUMN_WEIGHT_FLOOR: f64 = 0.02;
/// Times that weights are learned again on weighted columns.
pub(crate) const MAX_WEIGHT_ROUNDS: usize = 8;
/// Classes up to which weights are learned with several kernels (decision 0032).
pub(crate) const MAX_CLASSES_OF_WEIGHT_KERNELS: usize = 5;
/// Fraction of the loss that a round must save.
pub(crate) const MIN_ROUND_GAIN: f64 = 0.05;
/// Rounds in succession that do not save that fraction, until learning ends.
pub(crate) const MAX_IDLE_ROUNDS: usize = 2;
/// Fraction of the loss without weights that weights must save, of samples that did not make them.
pub(crate) const MIN_COLUMN_WEIGHT_GAIN: f64 = 0.05;

// Weights of similarities

/// Samples on which weights of similarities are learned.
pub(crate) const WEIGHT_SAMPLES: usize = 1500;
/// Steps of their search, as powers of 2.
pub(crate) const WEIGHT_STEPS: [f64; 3] = [2.0, 1.0, 0.5];
/// Largest and, with a minus, smallest power of 2.
pub(crate) const MAX_WEIGHT_POWER: f64 = 6.0;
/// Fraction of the loss that a weight must save.
pub(crate) const MIN_WEIGHT_GAIN: f64 = 1e-3;

// Bases

/// Default number of bases.
pub(crate) const DEFAULT_N_BASIS: usize = 1000;
/// The same of an outlier detector.
pub(crate) const ONE_CLASS_N_BASIS: usize = 500;
/// Bases that are compared with one another for a warning of distances.
pub(crate) const MAX_COMPARED_BASES: usize = 30;
/// Candidates of k-medoids per basis (decision 0027).
pub(crate) const CANDIDATES_PER_MEDOID: usize = 10;
/// Candidates for k-medoids, at least (decision 0027).
pub(crate) const MIN_BASIS_CANDIDATES: usize = 500;
/// Candidates of one class, at most (decision 0027).
pub(crate) const MAX_BASIS_CANDIDATES: usize = 4096;
/// Passes of k-means and k-medoids; the centers hardly move afterwards.
pub(crate) const CLUSTERING_PASSES: usize = 8;
/// Samples nearest the mean of a cluster among which its medoid is searched (decision 0027).
pub(crate) const MEDOID_CANDIDATES: usize = 32;
/// First samples per basis among which distinct ones become bases, for `index`.
pub(crate) const FIRST_SAMPLES_PER_BASIS: usize = 4;
/// Share of the bases that remains from one fit to the next: all fits take twice the time of the first.
pub(crate) const PRUNING_SHARE: f64 = 0.7;

// Time limits

/// Samples of the first fit under a time limit.
pub(crate) const FIRST_FIT_SAMPLES: usize = 100;
/// Those of each class.
pub(crate) const FIRST_FIT_PER_CLASS: usize = 10;
/// Multiple of the first samples up to which all are fitted at once.
pub(crate) const FIRST_FIT_ENOUGH: usize = 4;
/// Share of the time left that a fit on all samples may take by estimate.
pub(crate) const FULL_FIT_TIME_SHARE: f64 = 0.8;
/// The same for fewer samples, which a larger fit may follow.
pub(crate) const PART_FIT_TIME_SHARE: f64 = 0.4;
/// Multiple of the samples that the next fit must have.
pub(crate) const MIN_FIT_GROWTH: f64 = 1.5;
/// Bases beyond which decompositions take more time than similarities of samples.
pub(crate) const CUBIC_N_BASIS: f64 = 500.0;
/// Share of a time limit for the selection of parameters, which a fit follows (decision 0027).
pub(crate) const SELECTION_TIME_SHARE: f64 = 0.5;
/// Share of a method's time that its search takes (decision 0027).
pub(crate) const SEARCH_TIME_SHARE: f64 = 0.7;
/// Time of a search on all samples with its fit, in units of one on those compared (decision 0027).
pub(crate) const REPEATED_SEARCH_COST: f64 = 5.0;

// Out of core and distributed fits

/// Resident rows per feature, at most (decision 0029).
pub(crate) const MAX_RESIDENT_PER_FEATURE: usize = 128;
/// Resident rows per feature, at least (decision 0029).
pub(crate) const MIN_RESIDENT_PER_FEATURE: usize = 2;
/// Rows of every class that are chosen before the rest is shared by size.
pub(crate) const HESSIAN_ROWS_OF_CLASS: usize = 64;
/// Rows per feature that are copied from other machines (decision 0029).
pub(crate) const HESSIAN_ROWS_PER_FEATURE: usize = 32;
/// Rows per feature below which a direction is not worth its cost.
pub(crate) const MIN_HESSIAN_ROWS_PER_FEATURE: usize = 4;
/// Bytes of the rows that are copied from other machines, at most.
pub(crate) const MAX_HESSIAN_BYTES: usize = 1 << 28;
/// Time between two checkpoints, at least; the first is written at once.
pub(crate) const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(10);
/// One part in this many of the time that checkpoints may take.
pub(crate) const CHECKPOINT_ONE_IN: u32 = 10;
/// Steps after which products use all rows, not a sample (decision 0029).
pub(crate) const SAMPLED_STEPS: u32 = 12;
/// One in this many rows of a block is held out (decision 0029).
pub(crate) const BLOCK_HELD_OUT_ONE_IN: usize = 10;
/// Rows of a block that are held out, at most.
pub(crate) const MAX_BLOCK_HELD_OUT: usize = 1000;

// Features and similarities

/// Seconds for a block of a slow similarity, at most, so that Ctrl-C takes effect quickly.
pub(crate) const BLOCK_SECONDS: f64 = 0.25;
/// Fraction of the largest eigenvalue at which features of classes end (decision 0017).
pub(crate) const NYSTROEM_CUTOFF: f64 = 1e-6;
/// Roundings of a similarity in single precision at which features of targets end (decision 0018).
pub(crate) const NYSTROEM_ROUNDINGS: f64 = 10.0;
/// Steps of power methods for extreme eigenvalues, which are found within a small factor.
pub(crate) const EXTREME_EIGENVALUE_STEPS: usize = 8;
/// Least eigenvalue of a covariance, in units of the largest: rounding is magnified a hundredfold at most.
pub(crate) const COVARIANCE_FLOOR: f64 = 1e-4;
/// Columns up to which a map multiplies rows by a matrix in double precision (decision 0028).
pub(crate) const PRECISE_COLUMNS: usize = 512;
