/**
 * Converts the outcome of a task into a tool result.
 * F1. A URL in an answer is fetched only at an allowed origin of the agent, and without the author's headers. Any other
 *     stays text, so an untrusted URL cannot make a worker send requests into its internal network.
 */
import type { ToolAttachment, ToolResult } from '../../core/message/message.ts';
import { quote, walledFetch } from '../wall/index.ts';
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

/** Converts a task that has ended. */
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
  let left = 0;
  // The task is done: an answer that is too large never makes it a failure, or it would be asked for again.
  const keep = (name: string, mimeType: string, data: string): boolean => {
    const size = data.length * 0.75;
    const fits = files.length < A2A_LIMITS.files && bytes + size <= A2A_LIMITS.fileBytes;
    if (!fits) left += 1;
    else {
      bytes += size;
      files.push({
        name: toName(name, files.length),
        mimeType: mimeType || 'application/octet-stream',
        data,
      });
    }
    return fits;
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
  const shown = shorten(whole, keep);
  const result =
    left === 0
      ? shown
      : `${shown}\n(${left} of the files of its answer were left out: they are too many, or too large.)`;
  return { status: 'success', result, ...(files.length > 0 ? { attachments: files } : {}) };
}

/** Shortens a long text for the model, and attaches the whole as a file. */
function shorten(whole: string, keep: (name: string, mimeType: string, data: string) => boolean): string {
  if (whole.length <= A2A_LIMITS.textChars) return whole;
  const kept = keep('answer.txt', 'text/plain', Buffer.from(whole).toString('base64'));
  const head = `${whole.slice(0, A2A_LIMITS.textChars)}…\n\n[The whole answer has ${whole.length} characters`;
  return `${head}${kept ? ', and is the attached answer.txt.]' : '; the rest cannot be read.]'}`;
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
    if (!isA2aFailure(error)) throw error;
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
