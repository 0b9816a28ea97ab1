/** Creates a child in the store without a workflow. */
import type { ThreadStore } from '../../src/store/store.ts';

export const makeChild = (
  store: ThreadStore,
  parentId: string,
  threadId: string,
  name: string | null = null,
) =>
  store.children.create({
    parentId,
    child: {
      threadId,
      agent: 'scout',
      name,
      title: null,
      description: 'looks around',
      arguments: {},
      resumable: true,
      blocking: false,
      explicit: false,
      hears: 'a',
      messages: [],
    },
    call: null,
    waits: false,
    inherits: () => false,
    given: [],
  });
