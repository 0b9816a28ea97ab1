/**
 * `state.ask`: validates the question; the call that the tool runs in opens the wait (activities/tool-gate/asking.ts).
 */
import type { Answered, Question, ThreadQuestions } from '../../core/author/question.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';

export type AskPort = (question: Question) => Promise<Answered>;

/** Returns the data of an earlier question of this call, by its key; undefined if it was not asked. */
export type Recall = (key: string) => unknown;

/** Without a port, `ask` rejects: outside of a tool's own call, and in a tool that does not set `asks`. */
export function createQuestions(port: AskPort | undefined): ThreadQuestions {
  return {
    async ask(question) {
      if (!port) {
        throw new RuntimeError(
          'InvalidDefinitions',
          'Only the call of a tool with "asks: true" can ask: set it in the definition of the tool. Tools that code invokes, hooks, effects and endpoints cannot wait.',
        );
      }
      return port(checkQuestion(question));
    },
  };
}

function checkQuestion(given: Question): Question {
  const { key, question, data, expiresInMs } = (given ?? {}) as Question;
  if (typeof key !== 'string' || key === '' || key.length > LIMITS.askKeyChars)
    throw invalid('key', `a string of 1 to ${LIMITS.askKeyChars} characters`);
  if (typeof question !== 'string' || question === '' || question.length > LIMITS.waitSummaryChars)
    throw invalid('question', `a string of 1 to ${LIMITS.waitSummaryChars} characters`);
  if (expiresInMs !== undefined && !(Number.isSafeInteger(expiresInMs) && expiresInMs > 0))
    throw invalid('expiresInMs', 'a whole number of milliseconds, 1 or more');
  if (data === undefined) return { key, question, expiresInMs };
  const text = toJsonText(data, { name: `data of the question "${key}"`, maxBytes: LIMITS.waitBytes });
  return { key, question, data: JSON.parse(text), expiresInMs };
}

function invalid(field: string, must: string): RuntimeError {
  return new RuntimeError('InvalidValue', `"${field}" of state.ask must be ${must}.`);
}
