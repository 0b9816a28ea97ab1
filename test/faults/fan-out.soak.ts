/** The long form: fifty children, a thousand messages. */
import './fan-out.test.ts';
