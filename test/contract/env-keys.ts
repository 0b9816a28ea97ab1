/** Keys for stores of tests. Not secret: nothing real is ever encrypted with them. */
import { parseKeys } from '../../src/store/crypto/encryption.ts';

const key = (id: string, digit: string) => `${id}:${digit.repeat(64)}`;

/** Keys that every store of the contract suite is opened with. */
export const TEST_KEYS = parseKeys(key('k1', '1'), 'the test');
export const NEW_AND_OLD_KEYS = parseKeys(`${key('k2', '2')},${key('k1', '1')}`, 'the test');
export const NEW_KEYS = parseKeys(key('k2', '2'), 'the test');
/** A key that has the id k1 but another value. */
export const FALSE_KEYS = parseKeys(key('k1', '3'), 'the test');
