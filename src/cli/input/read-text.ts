/** A text argument, or standard input where it is `-`. */
import { text } from 'node:stream/consumers';
import { RuntimeError } from '../../core/error.ts';

/** Throws `InvalidMessage` when there is nothing. */
export async function readText(argument: string): Promise<string> {
  // The line break with which a file or `echo` ends is none of the message's.
  const content = argument === '-' ? (await text(process.stdin)).replace(/\r?\n$/, '') : argument;
  if (content.length > 0) return content;
  throw new RuntimeError(
    'InvalidMessage',
    argument === '-' ? 'Standard input was empty.' : 'The text is empty.',
  );
}
