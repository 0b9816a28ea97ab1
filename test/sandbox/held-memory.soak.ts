/** The long form: every kind of flood. */
import './held-memory.test.ts';
