/** A file that is sent within a message. */
import { refuseRequest } from '../problem.ts';

const DATA_URL = /^data:(?<type>[^;,]+)(?:;[^,]*)?;base64,(?<data>.+)$/s;

interface GivenFile {
  readonly url: string;
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
}

/** `n`: the index of the file in its message. Throws `InvalidRequest`. */
export function toAttachment({ url, mediaType, filename }: GivenFile, n: number) {
  const { type, data } = DATA_URL.exec(url)?.groups ?? {};
  if (type === undefined || data === undefined)
    return refuseRequest('A file must be sent within the message, as a base64 data URL.');
  return { name: filename ?? `file-${n + 1}`, mimeType: mediaType ?? type, data };
}
