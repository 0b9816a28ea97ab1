/** The long form: more of the same calls and logs. */
import './adversarial-aftermath.test.ts';
