/**
 * The box to send a message, with files. A message has its id before it is sent: a message whose answer was lost is sent
 * again under it, and stored once.
 */
import { useSignal } from '@preact/signals';
import { messageJson, newId } from '../../client/http/outgoing-json.ts';
import { ActButton, attempt } from '../parts/act-button.tsx';
import { everthread } from '../session/commands.ts';
import { act } from '../session/session.ts';
import type { ThreadReading } from '../story/reading.ts';
import { bytes, shorten } from '../text.ts';

export function SendBox({ reading: { threadId, waits } }: { readonly reading: ThreadReading }) {
  const text = useSignal('');
  const files = useSignal<readonly File[]>([]);
  const sending = useSignal(false);
  const send = async () => {
    if (sending.value || (text.value.trim() === '' && files.value.length === 0)) return;
    sending.value = true;
    const sent = await attempt(async () => {
      const attachments = await Promise.all(files.value.map(toAttachment));
      const message = { id: newId(), content: text.value, ...(attachments.length > 0 && { attachments }) };
      return act(
        'POST /v1/threads/{threadId}/messages',
        { threadId },
        { body: messageJson(message), again: true },
      );
    });
    sending.value = false;
    // What could not be sent stays in the box.
    if (sent) [text.value, files.value] = ['', []];
  };
  const attached = files.value.flatMap(({ name }) => ['--attach', name]);
  return (
    <form
      class="send"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        id="send"
        rows={1}
        dir="auto"
        aria-label="Message to the thread"
        placeholder="Message (s)"
        value={text}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      <label class="button plain" title="Attach files">
        <span aria-hidden="true">+</span>
        <input
          type="file"
          multiple
          aria-label="Attach files"
          onChange={({ currentTarget }) => {
            files.value = [...files.value, ...(currentTarget.files ?? [])];
            currentTarget.value = '';
          }}
        />
      </label>
      <ActButton
        command={everthread('threads', 'send', threadId, shorten(text.value, 200) || 'TEXT', ...attached)}
        tone={waits.value.length > 0 ? 'plain' : 'main'}
        name="send"
        disabled={sending.value}
        run={send}
      >
        {sending.value ? 'Sending…' : 'Send'}
      </ActButton>
      {files.value.length > 0 && (
        <ul class="chosen">
          {files.value.map((file) => (
            <li key={file.name + file.size}>
              <bdi>{file.name}</bdi> <span class="faint">{bytes(file.size)}</span>{' '}
              <button
                type="button"
                class="quiet"
                aria-label={`Do not send ${file.name}`}
                onClick={() => (files.value = files.value.filter((each) => each !== file))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}

async function toAttachment(file: File) {
  return {
    name: file.name,
    mimeType: file.type || 'application/octet-stream',
    data: new Uint8Array(await file.arrayBuffer()),
  };
}
