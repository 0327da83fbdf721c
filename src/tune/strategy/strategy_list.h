/*
 * Every strategy: AMP_STRATEGY(amp_strategy_<name>), the default first. --strategy, the help and
 * the search expand from this list.
 */

AMP_STRATEGY(amp_strategy_min_cut)
AMP_STRATEGY(amp_strategy_neural_compressor)
AMP_STRATEGY(amp_strategy_bisect)
AMP_STRATEGY(amp_strategy_greedy)
