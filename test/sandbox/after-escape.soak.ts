/** The long form: each attempt in a separate child. */
import './after-escape.test.ts';
