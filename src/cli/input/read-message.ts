/** Local files that a command sends along with a message (`--attach FILE`). */

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import type { NewAttachment } from '../../client/outgoing-file.ts';
import { mimeTypeOfName } from '../../core/file/mime-type.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { option } from '../command.ts';

export const ATTACH = {
  attach: option<readonly string[]>(
    '<file>',
    `a file to send along; may be repeated, at most ${LIMITS.attachments} times`,
    (file, before = []) => [...before, file],
  ),
};

/** Throws `FileNotFound` or `InvalidMessage`, which name the file. */
export function readAttachments(files: readonly string[] = []): NewAttachment[] {
  return files.map((file) => {
    const name = basename(file);
    return { name, mimeType: mimeTypeOfName(name), data: readBytes(file) };
  });
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === 'ENOENT')
      throw new RuntimeError('FileNotFound', `There is no file ${file} to attach.`, { cause });
    const why = code === 'EISDIR' ? 'it is a folder' : errorMessage(cause);
    throw new RuntimeError('InvalidMessage', `${file} cannot be attached: ${why}.`, { cause });
  }
}

/** A text argument, or standard input if it is `-`. */

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
