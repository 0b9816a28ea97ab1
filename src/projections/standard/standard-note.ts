/** Rows that are not about messages, as events of the stream; with the standard's event names if it has one. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';

/** The name of an event, and its data. */
type Note = readonly [eventType: string, data: unknown];

type Notes = { readonly [Kind in EventKind]?: (event: ThreadEventOf<Kind>) => Note };

const DIRECTORY = 'inode/directory';

function fileOf({ path, mimeType, size }: { path: string; mimeType: string; size: number }) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { path, file: { path, name, mimeType, size, isDirectory: mimeType === DIRECTORY } };
}

const effectNote =
  (status: string) =>
  ({ data: { id, name } }: { readonly data: { readonly id: string; readonly name: string } }): Note => [
    'effect_changed',
    { id, name, status },
  ];

export const NOTES: Notes = {
  'tool.started': ({ data: { callId: id, name } }) => ['tool_call_started', { id, name }],
  'tool.result': ({ data: { callId: id, name, status } }) => ['tool_call_done', { id, name, status }],
  'tool.unknown': ({ data: { callId: id, name, status } }) => ['tool_call_done', { id, name, status }],
  'file.created': ({ data }) => ['file_created', fileOf(data)],
  'file.updated': ({ data }) => ['file_updated', fileOf(data)],
  'file.deleted': ({ data: { path } }) => ['file_deleted', { path }],
  'value.changed': ({ at, data: { key } }) => ['kv_changed', { key, updated_at: at }],
  'message.deleted': ({ data: { messageId: id } }) => ['message_deleted', { id }],
  'effect.scheduled': effectNote('scheduled'),
  'effect.started': effectNote('running'),
  'effect.done': effectNote('done'),
  'effect.failed': effectNote('failed'),
  'effect.cancelled': effectNote('canceled'),
  'wait.opened': ({ data }) => ['wait_opened', data],
  'wait.answered': ({ data }) => ['wait_answered', data],
  'wait.closed': ({ data }) => ['wait_closed', data],
  'thread.status': ({ data }) => ['thread_status', data],
  custom: ({ data: { event, data } }) => [event, data],
};
