/** The long form of the same tables. */
import './adversarial-memory.test.ts';
