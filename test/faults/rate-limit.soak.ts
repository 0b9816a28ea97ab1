/** The long form: two hundred children, and twenty threads of another provider. */
import './rate-limit.test.ts';
