/** The long form of the same tables. */
import './adversarial-flood.test.ts';
