/** The long form: all caps with the AI SDK as well. */
import './answer-caps.test.ts';
