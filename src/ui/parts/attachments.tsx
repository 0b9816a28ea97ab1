/**
 * Files of a thread. A picture is read by a request of its own and shown from memory, so that no address holds a token.
 * An SVG can hold code: it is never shown, only saved.
 */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { readFile } from '../session/session.ts';
import { bytes as sizeOf } from '../text.ts';
import { attempt } from './act-button.tsx';

export interface ShownFile {
  readonly path: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
}

const PICTURES = /^image\/(png|jpeg|gif|webp|avif)$/;
const LARGEST_PICTURE = 10 * 1024 * 1024;

export function Attachments({
  threadId,
  files,
}: {
  readonly threadId: string;
  readonly files: readonly ShownFile[];
}) {
  return (
    <ul class="files">
      {files.map((file) => (
        <li key={file.path}>
          {PICTURES.test(file.mimeType) && file.size <= LARGEST_PICTURE && (
            <Picture threadId={threadId} file={file} />
          )}
          <button type="button" class="quiet" onClick={() => void save(threadId, file)}>
            <bdi>{file.name}</bdi>
          </button>{' '}
          <span class="faint">
            <bdi>{file.mimeType}</bdi> · {sizeOf(file.size)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Picture({ threadId, file }: { readonly threadId: string; readonly file: ShownFile }) {
  const address = useSignal<string | null>(null);
  useEffect(() => {
    let made: string | undefined;
    let closed = false;
    void readFile(threadId, file.path).then(
      (bytes) => {
        if (closed) return;
        made = URL.createObjectURL(new Blob([bytes], { type: file.mimeType }));
        address.value = made;
      },
      () => undefined,
    );
    return () => {
      closed = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [threadId, file.path]);
  return address.value === null ? null : <img src={address.value} alt={file.name} />;
}

/** Saved as bytes, so that no browser opens it as a page of this server. */
async function save(threadId: string, { path, name }: Pick<ShownFile, 'path' | 'name'>): Promise<void> {
  const bytes = await attempt(() => readFile(threadId, path));
  if (!bytes) return;
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
