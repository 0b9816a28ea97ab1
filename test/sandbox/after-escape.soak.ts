/** The long form: each attempt in a child of its own. */
import './after-escape.test.ts';
