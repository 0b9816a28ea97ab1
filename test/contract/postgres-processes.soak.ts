/** The long form: more processes at once, and more often. */
import './postgres-processes.test.ts';
