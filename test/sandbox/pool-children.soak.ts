/** The long form: twice as many runs as one child serves. */
import './pool-children.test.ts';
