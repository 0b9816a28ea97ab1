/** The long form of the same tables. */
import './adversarial-refusals.test.ts';
