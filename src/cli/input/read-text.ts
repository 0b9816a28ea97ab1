/** A text argument, or standard input if it is `-`. */
import { text } from 'node:stream/consumers';
import { RuntimeError } from '../../core/value/error.ts';

/** Throws `InvalidMessage` if the text is empty. */
export async function readText(argument: string): Promise<string> {
  // The final line break of a file or `echo` is not part of the message.
  const content = argument === '-' ? (await text(process.stdin)).replace(/\r?\n$/, '') : argument;
  if (content.length > 0) return content;
  throw new RuntimeError(
    'InvalidMessage',
    argument === '-' ? 'Standard input was empty.' : 'The text is empty.',
  );
}
