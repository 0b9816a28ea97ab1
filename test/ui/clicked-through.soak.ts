/** The long form: more refunds, and so more kills. */
import './clicked-through.test.ts';
