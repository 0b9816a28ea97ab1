/** The long form: threads of 20,000 messages. */
import './flat-step.test.ts';
