/** The long form: all caps behind the AI SDK too. */
import './answer-caps.test.ts';
