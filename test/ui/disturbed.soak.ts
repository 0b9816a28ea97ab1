/** The long form: more seeds. */
import './disturbed.test.ts';
