import { expect, test } from '@jest/globals';
import { userCacheFolder } from '../../src/temporal-service/cache-folder.ts';
import {
  parseDynamicConfig,
  readDynamicConfig,
  readSearchAttributes,
} from '../../src/temporal-service/server-settings.ts';
import { isAtLeast } from '../../src/temporal-service/temporal-version.ts';

test('[server-settings] the dynamic config in temporal/ has the keys that make a step quick', () => {
  expect(readDynamicConfig()).toEqual({
    'history.transferProcessorMaxPollRPS': 2000,
    'history.timerProcessorMaxPollRPS': 2000,
    'history.timerProcessorMaxTimeShift': '100ms',
    'frontend.enableCancelWorkerPollsOnShutdown': true,
    'system.enableActivityEagerExecution': true,
    'history.transferProcessorUpdateAckInterval': '1s',
    'history.visibilityProcessorUpdateAckInterval': '1s',
  });
});

test('[server-settings] a dynamic config line that the local server would ignore is refused', () => {
  const text = 'a.b:\n  - value: 1\n    constraints:\n      namespace: other\n';
  expect(() => parseDynamicConfig(text)).toThrow('dynamic-config.yaml, line 3');
});

test('[server-settings] the search attributes are four keywords', () => {
  expect(readSearchAttributes()).toEqual({
    ThreadStatus: 'Keyword',
    AgentId: 'Keyword',
    ParentThreadId: 'Keyword',
    RootThreadId: 'Keyword',
  });
});

test('[temporal-version] versions are compared by their numbers', () => {
  expect(isAtLeast('1.29.0', '1.29.0')).toBe(true);
  expect(isAtLeast('1.9.0', '1.29.0')).toBe(false);
  expect(isAtLeast('2.0', '1.29.0')).toBe(true);
  expect(isAtLeast('1.31.0-rc.1', '1.29.0')).toBe(true);
});

test('[cache-folder] the cache is where each system keeps caches', () => {
  expect(userCacheFolder({ HOME: '/h' }, 'linux')).toBe('/h/.cache/everthread');
  expect(userCacheFolder({ HOME: '/h', XDG_CACHE_HOME: '/x' }, 'linux')).toBe('/x/everthread');
  expect(userCacheFolder({ HOME: '/h' }, 'darwin')).toBe('/h/Library/Caches/everthread');
  expect(userCacheFolder({ LOCALAPPDATA: '/local' }, 'win32')).toBe('/local/everthread');
});
