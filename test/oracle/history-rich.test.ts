import { describeHistory } from './history.ts';

describeHistory('rich');
