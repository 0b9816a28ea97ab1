/** What a signal or update may carry, and every reason to refuse it (runtime §9). */
import { describe, expect, it } from '@jest/globals';
import { isItemId, itemBytes, parseMessage, parseTool } from '../../src/core/thread/item.ts';
import { LIMITS } from '../../src/core/value/limit.ts';

const LONGEST_ID = 'x'.repeat(LIMITS.idChars);

describe('item ids', () => {
  it.each(['a', '0', 'a:b.c-d_e/f', '~!"\\', LONGEST_ID])('may be %j', (id) => {
    expect(isItemId(id)).toBe(true);
  });

  it.each(['', ' ', 'a b', 'tab\t', 'ümlaut', '\u007f', `${LONGEST_ID}x`, 7, null, undefined, {}])(
    'may not be %j',
    (id) => {
      expect(isItemId(id)).toBe(false);
    },
  );
});

describe('message payloads', () => {
  it.each([
    [{ content: 'hello' }, { kind: 'message', role: 'user', content: 'hello' }],
    [
      { content: 'hello', id: 'm1' },
      { kind: 'message', id: 'm1', role: 'user', content: 'hello' },
    ],
    [
      { content: 'hello', id: null },
      { kind: 'message', role: 'user', content: 'hello' },
    ],
    [
      { content: 'note', role: 'assistant' },
      { kind: 'message', role: 'assistant', content: 'note' },
    ],
    [
      { content: 'x', silent: true },
      { kind: 'message', role: 'user', content: 'x', silent: true },
    ],
    [
      { content: 'x', silent: false },
      { kind: 'message', role: 'user', content: 'x' },
    ],
    [
      { content: 'x', metadata: { a: 1 } },
      { kind: 'message', role: 'user', content: 'x', metadata: { a: 1 } },
    ],
    [
      { content: 'x', metadata: null },
      { kind: 'message', role: 'user', content: 'x' },
    ],
    [
      { content: 'x', attachments: ['/a.txt', 'b'] },
      { kind: 'message', role: 'user', content: 'x', attachments: ['/a.txt', 'b'] },
    ],
    [
      { content: '', attachments: ['/a.txt'] },
      { kind: 'message', role: 'user', content: '', attachments: ['/a.txt'] },
    ],
    [{ attachments: ['/a.txt'] }, { kind: 'message', role: 'user', content: '', attachments: ['/a.txt'] }],
    [
      { content: 'x', attachments: [] },
      { kind: 'message', role: 'user', content: 'x' },
    ],
    [
      { content: 'x', attachments: null },
      { kind: 'message', role: 'user', content: 'x' },
    ],
    [
      { content: 'x', unknown: 1 },
      { kind: 'message', role: 'user', content: 'x' },
    ],
    [
      { id: 's1', stored: true },
      { kind: 'stored', id: 's1', role: 'user' },
    ],
    [
      { id: 's1', stored: true, role: 'assistant' },
      { kind: 'stored', id: 's1', role: 'assistant' },
    ],
  ])('%j is taken as %j', (payload, item) => {
    expect(parseMessage(payload)).toEqual({ ok: true, value: item });
  });

  it.each([
    ['nothing', undefined, 'object'],
    ['null', null, 'object'],
    ['a bare text', 'hello', 'object'],
    ['a list', [{ content: 'x' }], 'object'],
    ['no content', {}, '"content"'],
    ['empty content', { content: '' }, '"content"'],
    ['content that is not text', { content: 7 }, '"content"'],
    ['an empty id', { id: '', content: 'x' }, '"id"'],
    ['a long id', { id: `${LONGEST_ID}x`, content: 'x' }, '"id"'],
    ['an id with blanks', { id: 'a b', content: 'x' }, '"id"'],
    ['the role system', { role: 'system', content: 'x' }, '"role"'],
    ['the role tool', { role: 'tool', content: 'x' }, '"role"'],
    ['a role that is not text', { role: 1, content: 'x' }, '"role"'],
    ['silent as text', { silent: 'yes', content: 'x' }, '"silent"'],
    ['metadata as list', { metadata: [], content: 'x' }, '"metadata"'],
    ['attachments that are no list', { content: 'x', attachments: '/a.txt' }, '"attachments"'],
    ['attachments of objects', { content: 'x', attachments: [{ path: '/a.txt' }] }, '"attachments"'],
    ['an empty path', { content: 'x', attachments: [''] }, '"attachments"'],
    ['a long path', { content: 'x', attachments: ['x'.repeat(LIMITS.filePathBytes + 1)] }, '"attachments"'],
    [
      'many attachments',
      { content: 'x', attachments: Array(LIMITS.attachments + 1).fill('/a') },
      '"attachments"',
    ],
    ['no attachments and no content', { attachments: [] }, '"content"'],
    ['stored without id', { stored: true }, '"id"'],
  ])('are refused as InvalidMessage for %s', (_what, payload, said) => {
    const parsed = parseMessage(payload);
    expect(parsed).toMatchObject({ ok: false, refusal: { code: 'InvalidMessage' } });
    expect(!parsed.ok && parsed.refusal.reason).toContain(said);
  });

  it('are refused under their id, so that the sender can be informed', () => {
    expect(parseMessage({ id: 'm1', content: '' })).toMatchObject({ refusal: { id: 'm1' } });
    expect(parseMessage({ id: 'a b', content: 'x' })).not.toHaveProperty('refusal.id');
  });

  it('may have more roles if the caller allows them', () => {
    const roles = ['user', 'assistant', 'system'];
    expect(parseMessage({ role: 'system', content: 'x' }, roles)).toMatchObject({
      value: { role: 'system' },
    });
  });

  it.each([
    ['text', 'x', 1],
    ['multi-byte text', '€', 3],
    ['astral text', '😀', 4],
  ])('may carry exactly the limit of inline bytes of %s, and not one more', (_what, unit, bytes) => {
    const fitting = unit.repeat(Math.floor(LIMITS.inlineBytes / bytes));
    expect(parseMessage({ content: fitting }).ok).toBe(true);
    expect(parseMessage({ id: 'big', content: fitting + unit })).toMatchObject({
      ok: false,
      refusal: { code: 'MessageTooLarge', id: 'big' },
    });
  });

  it('count metadata as content', () => {
    const metadata = { note: 'x'.repeat(LIMITS.inlineBytes) };
    expect(parseMessage({ content: 'x', metadata })).toMatchObject({
      refusal: { code: 'MessageTooLarge' },
    });
  });
});

describe('tool payloads', () => {
  it.each([
    [{ name: 'look' }, { kind: 'tool', name: 'look', arguments: {} }],
    [
      { name: 'look', arguments: { a: 1 }, id: 't1' },
      { kind: 'tool', id: 't1', name: 'look', arguments: { a: 1 } },
    ],
  ])('%j is taken as %j', (payload, item) => {
    expect(parseTool(payload)).toEqual({ ok: true, value: item });
  });

  it.each([
    ['nothing', undefined, 'object'],
    ['a list', [], 'object'],
    ['no name', {}, '"name"'],
    ['an empty name', { name: '' }, '"name"'],
    ['a name that is not text', { name: 1 }, '"name"'],
    ['a long name', { name: 'x'.repeat(129) }, '"name"'],
    ['arguments as text', { name: 'look', arguments: '{}' }, '"arguments"'],
    ['arguments as list', { name: 'look', arguments: [] }, '"arguments"'],
    ['null for arguments', { name: 'look', arguments: null }, '"arguments"'],
    ['an id with blanks', { id: 'a b', name: 'look' }, '"id"'],
  ])('are refused as InvalidMessage for %s', (_what, payload, said) => {
    const parsed = parseTool(payload);
    expect(parsed).toMatchObject({ ok: false, refusal: { code: 'InvalidMessage' } });
    expect(!parsed.ok && parsed.refusal.reason).toContain(said);
  });

  it('are refused as MessageTooLarge above the limit of inline bytes', () => {
    const payload = { id: 't1', name: 'look', arguments: { at: 'x'.repeat(LIMITS.inlineBytes) } };
    expect(parseTool(payload)).toMatchObject({ refusal: { code: 'MessageTooLarge', id: 't1' } });
  });
});

describe('the bytes of an item', () => {
  it.each([
    [{ kind: 'message', role: 'user', content: 'a€😀' } as const, 8],
    [{ kind: 'message', role: 'user', content: 'a', metadata: { é: 1 } } as const, 1 + '{"é":1}'.length + 1],
    [{ kind: 'tool', name: 'süd', arguments: { a: '€' } } as const, 4 + '{"a":"€"}'.length + 2],
    [{ kind: 'stored', id: 's', role: 'user' } as const, 0],
  ])('of %j are %i', (item, bytes) => {
    expect(itemBytes(item)).toBe(bytes);
  });
});
