/**
 * Reads the parts of a message: texts become its text, files its attachments. A file is taken if it is within the
 * message, as a data URL, or at the signed address of a file of the thread. Nothing is fetched.
 */
import type { OutgoingAttachment } from '../../../client/outgoing-file.ts';
import { refuseRequest } from '../problem.ts';
import { parseFileAddress } from '../signed-address.ts';
import type { GivenFile, GivenPart } from './given-message.ts';

export interface ReadParts {
  readonly content: string;
  readonly attachments: readonly OutgoingAttachment[];
}

/** A part as the message has it: among its attachments, or in its text. */
type ReadPart = { readonly file: OutgoingAttachment } | { readonly text: string };

/** Reads every part, and refuses the message for one that cannot be taken. Throws `InvalidRequest`. */
export function readParts(parts: readonly GivenPart[], threadId?: string): ReadParts {
  return collect(parts, (part, n) => {
    if (part.kind === 'other')
      return refuseRequest(
        `messages: a part of the type "${part.type}" ${part.reason === undefined ? 'is not supported' : `cannot be taken: ${part.reason}`}.`,
      );
    const file = toNewFile(part, n) ?? findOwnPath(part.url, threadId);
    if (file !== undefined) return { file };
    return refuseRequest(
      `messages: a part of the type "${part.type}" must be sent within the message, as base64 data.`,
    );
  });
}

/** Reads parts of an earlier message: what cannot be taken, or what `admit` refuses, is named in its text. */
export function readEarlierParts(parts: readonly GivenPart[], admit: (bytes: number) => boolean): ReadParts {
  return collect(parts, (part, n) => {
    const file = part.kind === 'file' ? toNewFile(part, n) : undefined;
    if (file && admit((file.data.length * 3) / 4)) return { file };
    return { text: `[${part.type}, not kept${part.kind === 'file' ? placeOf(part) : ''}]` };
  });
}

function collect(
  parts: readonly GivenPart[],
  read: (part: Exclude<GivenPart, { kind: 'text' }>, n: number) => ReadPart,
): ReadParts {
  let files = 0;
  const found = parts.map((part): ReadPart => (part.kind === 'text' ? part : read(part, files++)));
  return {
    content: found.flatMap((each) => ('text' in each && each.text !== '' ? [each.text] : [])).join('\n'),
    attachments: found.flatMap((each) => ('file' in each ? [each.file] : [])),
  };
}

/** Ends before the data: a regular expression that has to match megabytes can exhaust its stack. */
const DATA_URL = /^data:(?<type>[^;,]{1,200})(?:;[^,]{0,300})?;base64,/;

function toNewFile({ url, mimeType, name }: GivenFile, n: number) {
  const head = DATA_URL.exec(url);
  const type = head?.groups?.type;
  const data = url.slice(head?.[0].length);
  if (type === undefined || data === '') return undefined;
  return { name: name ?? `file-${n + 1}`, mimeType: mimeType ?? type, data };
}

/** The path of a file of the thread, from the address under which the thread's messages show it. */
function findOwnPath(url: string, threadId: string | undefined): string | undefined {
  const signed = parseFileAddress(url);
  return signed?.threadId === threadId ? signed?.path : undefined;
}

const ADDRESS_CHARS = 500;

/** A signed address is a key to the file: no text has it. */
function placeOf({ url }: GivenFile): string {
  return /^https?:/.test(url) && parseFileAddress(url) === null && url.length <= ADDRESS_CHARS
    ? `: ${url}`
    : '';
}
