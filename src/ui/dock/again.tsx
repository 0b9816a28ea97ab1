/** Another answer in place of the one that a thread has: to the same message, or to an edited one. */
import { newId } from '../../client/http/outgoing-json.ts';
import { ActButton, attempt } from '../parts/act-button.tsx';
import { everthread } from '../session/commands.ts';
import { act, may } from '../session/session.ts';
import type { Message } from '../story/reading.ts';

function supersede(threadId: string, body: object, done: string): Promise<unknown> {
  // The request may be sent again after a lost answer.
  const headers = { 'idempotency-key': newId() };
  return attempt(
    () => act('POST /v1/threads/{threadId}/supersede', { threadId }, { body, headers, again: true }),
    done,
  );
}

export function Regenerate({ threadId }: { readonly threadId: string }) {
  return (
    <ActButton
      command={everthread('threads', 'regenerate', threadId)}
      name="regenerate"
      run={() => supersede(threadId, {}, 'Asked for another answer.')}
    >
      Regenerate
    </ActButton>
  );
}

export function Edit({ threadId, message }: { readonly threadId: string; readonly message: Message }) {
  const { id: messageId, content } = message;
  if (!may('write')) return null;
  const edit = async () => {
    const text = window.prompt('What follows this message is superseded.', content ?? '');
    if (text) await supersede(threadId, { messageId, message: { content: text } }, 'Edited.');
  };
  return (
    <ActButton command={everthread('threads', 'edit', threadId, messageId, '-')} name="edit" run={edit}>
      Edit
    </ActButton>
  );
}
