/** The long form of the same tables. */
import './adversarial-termination.test.ts';
