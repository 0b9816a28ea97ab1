/**
 * Converts the outcome of a task into a tool result.
 * F1. A URL in an answer is fetched only at an allowed origin of the agent, and without the author's headers. Any other
 *     stays text, so an untrusted URL cannot make a worker send requests into its internal network.
 */
import type { ToolAttachment, ToolResult } from '../core/message/message.ts';
import { quote, walledFetch } from '../outbound/index.ts';
import { originsOf, type Reach } from './card.ts';
import { type A2aCode, A2aFailure, isA2aFailure } from './failure.ts';
import { A2A_LIMITS } from './limit.ts';
import { type RemotePart, type RemoteTask, textOf } from './remote-reply.ts';
import { toWallFault, withinTimeout } from './request.ts';

const END_CODES = {
  failed: 'A2aTaskFailed',
  rejected: 'A2aTaskRejected',
  canceled: 'A2aTaskCanceled',
} as const satisfies Partial<Record<RemoteTask['state'], A2aCode>>;

/** Converts a task that has ended. Rejects with an A2aFailure if its answer exceeds a limit. */
export async function toTaskResult(
  { id, state, said, artifacts }: RemoteTask,
  reach: Reach,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (state === 'failed' || state === 'rejected' || state === 'canceled')
    return {
      status: 'error',
      error: `Its task ${quote(id, 100)} is ${state}: ${quote(textOf(said) || 'no reason given.', 4000)}`,
      error_code: END_CODES[state],
    };
  return toAnswer(artifacts.length > 0 ? artifacts : [said], reach, signal);
}

export async function toAnswer(
  pieces: readonly (readonly RemotePart[])[],
  reach: Reach,
  signal: AbortSignal,
): Promise<ToolResult> {
  const files: ToolAttachment[] = [];
  const texts: string[] = [];
  let bytes = 0;
  const keep = (name: string, mimeType: string, data: string) => {
    bytes += data.length * 0.75;
    if (files.length >= A2A_LIMITS.files || bytes > A2A_LIMITS.fileBytes)
      throw new A2aFailure('A2aTooLarge', 'The files of its answer are too many, or too large.');
    files.push({ name: toName(name, files.length), mimeType: mimeType || 'application/octet-stream', data });
  };
  for (const parts of pieces) {
    let text = '';
    for (const part of parts) {
      if (part.kind === 'text') text += part.text;
      else if (part.kind === 'data') text += `${text === '' ? '' : '\n'}${JSON.stringify(part.data)}`;
      else if (part.kind === 'raw') keep(part.filename, part.mediaType, part.data);
      else {
        const found = await fetchAgentFile(part.url, reach, signal);
        if (typeof found === 'string') text += `${text === '' ? '' : '\n'}${found}`;
        else keep(part.filename || fileNameOf(part.url), part.mediaType || found.mimeType, found.data);
      }
    }
    if (text !== '') texts.push(text);
  }
  const whole = texts.join('\n\n');
  const result = shorten(whole, keep);
  return { status: 'success', result, ...(files.length > 0 ? { attachments: files } : {}) };
}

/** Shortens a long text for the model, and attaches the whole as a file. */
function shorten(whole: string, keep: (name: string, mimeType: string, data: string) => void): string {
  if (whole.length <= A2A_LIMITS.textChars) return whole;
  keep('answer.txt', 'text/plain', Buffer.from(whole).toString('base64'));
  return `${whole.slice(0, A2A_LIMITS.textChars)}…\n\n[The whole answer, ${whole.length} characters, is the attached answer.txt.]`;
}

/** F1. Returns a text if the URL was not fetched, or could not be. */
async function fetchAgentFile(
  address: string,
  reach: Reach,
  signal: AbortSignal,
): Promise<string | { readonly data: string; readonly mimeType: string }> {
  const shown = quote(address, 2000);
  const origins = originsOf(reach);
  if (!URL.canParse(address) || !origins.has(new URL(address).origin)) return shown;
  const ask = walledFetch({
    allows: ({ origin }) => origins.has(origin),
    maxBytes: A2A_LIMITS.fileBytes,
    fault: toWallFault,
  });
  try {
    return await withinTimeout({ signal, timeoutMs: reach.requestTimeoutMs }, async (own) => {
      const response = await ask(address, { signal: own });
      if (!response.ok) throw new A2aFailure('A2aUnavailable', `answered ${response.status}`);
      const data = Buffer.from(await response.arrayBuffer()).toString('base64');
      return { data, mimeType: response.headers.get('content-type')?.split(';')[0] ?? '' };
    });
  } catch (error) {
    if (!isA2aFailure(error) || error.code === 'A2aTooLarge') throw error;
    return `${shown} (could not be fetched: ${quote(error.message, 200)})`;
  }
}

function fileNameOf(address: string): string {
  try {
    return decodeURIComponent(new URL(address).pathname.split('/').at(-1) ?? '');
  } catch {
    return '';
  }
}

function toName(name: string, index: number): string {
  return (
    name
      .replace(/[^A-Za-z0-9._-]/g, '_')
      .replace(/^\.+/, '')
      .slice(-80) || `file-${index + 1}`
  );
}
