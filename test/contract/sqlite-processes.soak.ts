/** The long form: more processes at once, and more often. */
import './sqlite-processes.test.ts';
