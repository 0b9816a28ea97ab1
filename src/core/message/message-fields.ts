/** Checks the fields of a message that a caller may set or change, whatever their source. */
import { RuntimeError } from '../value/error.ts';
import { LIMITS, utf8Length } from '../value/limit.ts';
import { toMetadata } from './metadata.ts';

export interface MessageFields {
  readonly content?: string | undefined;
  readonly silent?: boolean | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Returns the given fields as they are stored. Throws `InvalidMessage`, `MessageTooLarge`, and for metadata
 * `InvalidValue` or `LimitExceeded`.
 */
export function checkFields({ content, silent, metadata }: MessageFields): MessageFields {
  if (content !== undefined) checkContent(content);
  if (silent !== undefined && typeof silent !== 'boolean')
    throw new RuntimeError('InvalidMessage', "A message's silent must be true or false.");
  return {
    ...(content === undefined ? {} : { content }),
    ...(silent === undefined ? {} : { silent }),
    ...(metadata === undefined ? {} : { metadata: toMetadata(metadata) }),
  };
}

function checkContent(content: unknown): void {
  if (typeof content !== 'string')
    throw new RuntimeError('InvalidMessage', "A message's content must be a string.");
  checkSize(utf8Length(content));
}

/** Throws `MessageTooLarge`. */
export function checkSize(bytes: number): void {
  if (bytes <= LIMITS.contentBytes) return;
  throw new RuntimeError(
    'MessageTooLarge',
    `The message has ${bytes} bytes; at most ${LIMITS.contentBytes} are allowed.`,
  );
}
