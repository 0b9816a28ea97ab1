/** Times in the JSON of commands. */
import { expect, it } from '@jest/globals';
import { toIso, withIsoTimes } from '../../../src/cli/output/output.ts';

const AT = 1_764_017_104_970_012;
const ISO = '2025-11-24T20:45:04.970012Z';

it('are ISO 8601 with all digits of the store', () => {
  expect(toIso(AT)).toBe(ISO);
  expect(Date.parse(ISO)).toBe(Math.floor(AT / 1000));
  const record = {
    id: 'a',
    createdAt: AT,
    terminatedAt: null,
    children: [{ updatedAt: AT }],
    created_at: AT,
  };
  expect(withIsoTimes(record)).toEqual({
    ...{ id: 'a', createdAt: ISO, terminatedAt: null, children: [{ updatedAt: ISO }], created_at: ISO },
  });
  expect(withIsoTimes({ seq: 3, at: AT, type: 'wait.opened', data: { expiresAt: AT } })).toEqual({
    ...{ seq: 3, at: ISO, type: 'wait.opened', data: { expiresAt: ISO } },
  });
});

it('are unchanged in third-party data, and if a number is not a time', () => {
  const record = {
    ...{ lastSeq: AT, dueInMs: AT, repeatAt: 7, format: 'at' },
    arguments: { createdAt: AT },
    metadata: { deep: { at: AT } },
    values: [{ key: 'k', value: { at: AT } }],
    data: { at: AT },
  };
  expect(withIsoTimes(record)).toEqual(record);
});
