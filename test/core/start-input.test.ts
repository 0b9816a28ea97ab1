/** The start input of a thread, written by hand for the plain `temporal` CLI: each problem has a readable message. */
import { describe, expect, it } from '@jest/globals';
import { isThreadId, parseStartInput } from '../../src/core/thread/start-input.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { aSnapshot } from './sample.ts';

describe('thread ids', () => {
  it.each(['a', '0', 'a.b_c:d-e', 'x'.repeat(LIMITS.threadIdChars)])('may be %j', (id) => {
    expect(isThreadId(id)).toBe(true);
  });

  it.each(['', '.a', '-a', 'a b', 'a/b', 'ä', 'x'.repeat(LIMITS.threadIdChars + 1), 1, null])(
    'may not be %j',
    (id) => {
      expect(isThreadId(id)).toBe(false);
    },
  );
});

describe('a start input', () => {
  it('requires only an agent', () => {
    expect(parseStartInput({ agent: 'helper' }, 'thread/t1')).toEqual({
      threadId: 't1',
      agent: 'helper',
      userId: null,
      arguments: {},
      messages: [],
      parentId: null,
      rootId: 't1',
      carried: null,
    });
  });

  it('may set every field', () => {
    const input = {
      agent: 'helper',
      threadId: 't1',
      userId: 'u1',
      arguments: { topic: 'sea' },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { id: 'm1', content: 'Hello' },
      ],
      parentId: 'p1',
      rootId: 'r1',
      carried: aSnapshot(),
    };
    expect(parseStartInput(input, 'thread/t1')).toEqual({
      ...input,
      messages: [
        { kind: 'message', role: 'system', content: 'Be brief.' },
        { kind: 'message', id: 'm1', role: 'user', content: 'Hello' },
      ],
    });
  });

  it.each([
    ['nothing', undefined, 'object'],
    ['null', null, 'object'],
    ['a bare text', 'helper', 'object'],
    ['a list', [], 'object'],
    ['no agent', {}, '"agent"'],
    ['an empty agent', { agent: '' }, '"agent"'],
    ['a long agent', { agent: 'x'.repeat(129) }, '"agent"'],
    ['an agent that is not text', { agent: 1 }, '"agent"'],
    ['a user id that is not text', { agent: 'a', userId: 1 }, '"userId"'],
    ['a user id beyond what a run may carry', { agent: 'a', userId: 'x'.repeat(257) }, '"userId"'],
    ['arguments as list', { agent: 'a', arguments: [] }, '"arguments"'],
    ['null for arguments', { agent: 'a', arguments: null }, '"arguments"'],
    ['another thread id than the workflow id says', { agent: 'a', threadId: 't2' }, '"t2"'],
    ['a thread id that is not text', { agent: 'a', threadId: 1 }, '"threadId"'],
    ['a parent that is not a thread id', { agent: 'a', parentId: 'a b' }, '"parentId"'],
    ['a root that is not a thread id', { agent: 'a', rootId: '' }, '"rootId"'],
    ['messages that are no list', { agent: 'a', messages: {} }, '"messages"'],
    ['too many messages', { agent: 'a', messages: Array(101).fill({ content: 'x' }) }, '100'],
    [
      'a bad message, by its place',
      { agent: 'a', messages: [{ content: 'x' }, { content: '' }] },
      'messages[1]',
    ],
  ])('is refused as InvalidStart for %s', (_what, input, said) => {
    expect(() => parseStartInput(input, 'thread/t1')).toThrow(
      expect.objectContaining({ name: 'InvalidStart', message: expect.stringContaining(said) }),
    );
  });

  it.each([
    ['another prefix', 't1', 'thread/'],
    ['no thread id', 'thread/', 'thread id'],
    ['a thread id with blanks', 'thread/a b', 'thread id'],
  ])('is refused as InvalidStart under a workflow id with %s', (_what, workflowId, said) => {
    expect(() => parseStartInput({ agent: 'a' }, workflowId)).toThrow(
      expect.objectContaining({ name: 'InvalidStart', message: expect.stringContaining(said) }),
    );
  });

  it('with carried state of a newer build is not InvalidStart: only an older worker cannot read it', () => {
    const input = { agent: 'a', carried: { ...aSnapshot(), version: 3 } };
    expect(() => parseStartInput(input, 'thread/t1')).toThrow(expect.objectContaining({ name: 'Error' }));
  });
});
