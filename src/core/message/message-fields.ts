/**
 * The fields of a message that its sender sets, and that hooks and later code may change. They are declared and checked
 * here, wherever they come from, and every form of a message has them:
 *
 *   what a client gives      client/outgoing.ts
 *   an item in line          thread/item.ts; the store keeps it as JSON
 *   a message                message.ts; each field is a column of its row
 *   a request message        context/context-provider.ts makes it of a message, for a model
 */
import { RuntimeError } from '../value/error.ts';
import { toJsonObject } from '../value/json-value.ts';
import { LIMITS, utf8Length } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';

export interface MessageFields {
  readonly content?: string | undefined;
  readonly silent?: boolean | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

type Field = keyof MessageFields;

const CHECKS: Readonly<Record<Field, { readonly is: (value: unknown) => boolean; readonly words: string }>> =
  {
    content: { is: (value) => typeof value === 'string', words: 'a string' },
    silent: { is: (value) => typeof value === 'boolean', words: 'true or false' },
    metadata: { is: isRecord, words: 'an object' },
  };

export const MESSAGE_FIELDS = Object.keys(CHECKS) as readonly Field[];

/** The first field that has a value of a wrong type, and what it must be; undefined if there is none. */
export function findMisfit(given: object): { readonly name: Field; readonly words: string } | undefined {
  const values = given as Readonly<Record<Field, unknown>>;
  const name = MESSAGE_FIELDS.find((each) => values[each] !== undefined && !CHECKS[each].is(values[each]));
  return name && { name, words: CHECKS[name].words };
}

/** The fields alone, without those that say nothing: null, undefined, false. */
export function pickFields<Given extends object>(given: Given): Pick<Given, Field & keyof Given> {
  const fields = MESSAGE_FIELDS.map((name) => [name, (given as MessageFields)[name] ?? undefined] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== false)) as Given;
}

/**
 * Returns the given fields as they are stored: metadata is JSON of the sender's own, kept as it reads back. Throws
 * `InvalidMessage`, `MessageTooLarge`, and for metadata `InvalidValue` or `LimitExceeded`.
 */
export function checkFields(given: MessageFields): MessageFields {
  const misfit = findMisfit(given);
  if (misfit) throw new RuntimeError('InvalidMessage', `A message's ${misfit.name} must be ${misfit.words}.`);
  const { content, metadata } = given;
  if (content !== undefined) checkSize(utf8Length(content));
  const bound = { name: 'metadata', maxBytes: LIMITS.contentBytes };
  const set = Object.fromEntries(
    MESSAGE_FIELDS.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  );
  return metadata === undefined ? set : { ...set, metadata: toJsonObject(metadata, bound) };
}

/** Throws `MessageTooLarge`. */
export function checkSize(bytes: number): void {
  if (bytes <= LIMITS.contentBytes) return;
  throw new RuntimeError(
    'MessageTooLarge',
    `The message has ${bytes} bytes; at most ${LIMITS.contentBytes} are allowed.`,
  );
}
