/**
 * Files of threads for MCP clients: small ones are embedded in a result, all others are resources that are read by
 * their URI. A caller that may reach the thread may read them.
 */
import type { ContentBlock, ReadResourceResult } from '@modelcontextprotocol/server';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { NamedFile } from '../../core/event/event-shape.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { readWholeFile } from '../../store/file/file-content.ts';

/** URI template of files (RFC 6570). */
export const FILE_TEMPLATE = 'everthread://threads/{thread}/files/{+path}';

/** Bytes of one embedded file, of all embedded files of a result, and of a file that is read. */
const MAX_EMBEDDED_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 4 * 1024 * 1024;
const MAX_READ_BYTES = 16 * 1024 * 1024;
/** Files of one result; the others are left out. */
const MAX_FILES = 50;

export interface FileLink {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
}

export function toFileLink(threadId: string, { path, mimeType, size }: NamedFile): FileLink {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { uri: `everthread://threads/${threadId}/files${encoded}`, name, mimeType, size };
}

export interface FilePlace {
  readonly threadId: string;
  readonly path: string;
}

/** Undefined if the URI is not that of a thread's file. */
export function toFilePlace(uri: string): FilePlace | undefined {
  const { thread, path } =
    /^everthread:\/\/threads\/(?<thread>[^/]+)\/files(?<path>\/.+)$/.exec(uri)?.groups ?? {};
  try {
    if (thread && path) return { threadId: decodeURIComponent(thread), path: decodeURIComponent(path) };
  } catch {
    // It is not encoded.
  }
  return undefined;
}

/** Embeds files while there is room, and links the others. Files that were deleted in the meantime are left out. */
export async function toBlocks(
  client: RuntimeClient,
  threadId: string,
  files: readonly NamedFile[],
): Promise<ContentBlock[]> {
  let room = MAX_TOTAL_BYTES;
  const blocks: ContentBlock[] = [];
  for (const file of files.slice(0, MAX_FILES)) {
    const link = toFileLink(threadId, file);
    const { uri, name, mimeType, size } = link;
    if (size > Math.min(MAX_EMBEDDED_BYTES, room)) {
      blocks.push({ type: 'resource_link', uri, name, mimeType, size });
      continue;
    }
    const bytes = await readWholeFile(client.store, threadId, file.path);
    if (!bytes) continue;
    room -= bytes.byteLength;
    blocks.push(toBlock(link, Buffer.from(bytes)));
  }
  return blocks;
}

function toBlock({ uri, mimeType }: FileLink, bytes: Buffer): ContentBlock {
  if (mimeType.startsWith('image/')) return { type: 'image', data: bytes.toString('base64'), mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data: bytes.toString('base64'), mimeType };
  return { type: 'resource', resource: toContents(uri, mimeType, bytes) };
}

const TEXT = /^(text\/|application\/(json|xml|yaml|x-ndjson|javascript)\b|[^;]*\+(json|xml)\b)/;

/** A file of a text type that is not valid UTF-8 is returned as bytes. */
function toContents(uri: string, mimeType: string, bytes: Buffer): ReadResourceResult['contents'][number] {
  if (TEXT.test(mimeType)) {
    try {
      return { uri, mimeType, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
    } catch {
      // Bytes, as below.
    }
  }
  return { uri, mimeType, blob: bytes.toString('base64') };
}

/** Reads a file; the caller must have checked access to its thread. Throws `FileNotFound`, `LimitExceeded`. */
export async function readResource(
  client: RuntimeClient,
  { threadId, path }: FilePlace,
  uri: string,
): Promise<ReadResourceResult> {
  const store = client.store;
  const file = await store.files.open(threadId, path);
  if (file && file.record.size > MAX_READ_BYTES)
    throw new RuntimeError(
      'LimitExceeded',
      `${path} has ${file.record.size} bytes, but at most ${MAX_READ_BYTES} can be read here: use GET /v1/threads/${threadId}/file instead.`,
    );
  const bytes = file && (await readWholeFile(store, threadId, path));
  if (!file || !bytes)
    throw new RuntimeError('FileNotFound', `The thread "${threadId}" has no file ${path}.`);
  return { contents: [toContents(uri, file.record.mimeType, Buffer.from(bytes))] };
}
