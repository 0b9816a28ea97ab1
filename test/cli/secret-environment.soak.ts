/** The long form of `secret-environment.test.ts`. */
import './secret-environment.test.ts';
