/** The two errors about an answer that are raised here, not by the provider: neither is retried with the same model. */
import { ProviderError } from '../core/message/provider.ts';
import { readField } from '../core/value/thrown.ts';

export function tooLarge(what: string): ProviderError {
  return new ProviderError(
    `The model's answer was rejected: ${what}. Request less, or set another model as a fallback.`,
    'AnswerTooLarge',
  );
}

/** `what`: a sentence about the provider, without its full stop. */
export function invalidAnswer(what: string): ProviderError {
  return new ProviderError(
    `${what}. Set another model as a fallback; if the provider is code of the project, correct it.`,
    'InvalidAnswer',
  );
}

/** JSON of a part of an answer. Throws `AnswerTooLarge` if it is nested too deep, `InvalidAnswer` if it is not JSON. */
export function answerJson(value: unknown, what: string): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    if (readField(error, 'name') === 'RangeError') throw tooLarge(`${what} is nested too deeply for JSON`);
    throw invalidAnswer(`The provider answered with ${what} that is not JSON`);
  }
}
