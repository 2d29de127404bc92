// Members of groups, and groups as operators see them.

import { Consumer } from '@platformatic/kafka'
import { Cannot, text } from './adapter.mjs'

export const members = new Map()

class Member {
  taken = []
  read = []
  messages = []
  error = null
  had = []

  constructor (consumer, group) {
    this.consumer = consumer
    this.group = group
    consumer.on('consumer:group:join', () => this.look())
  }

  async start (topics, how) {
    this.stream = await this.consumer.consume({ topics, mode: 'committed', fallbackMode: 'earliest', autocommit: false, maxWaitTime: 100, ...how })
    this.reading = this.run()
  }

  async run () {
    try {
      for await (const message of this.stream) {
        this.messages.push(message)
        this.read.push([message.topic, message.partition, Number(message.offset), text(message.value)])
      }
    } catch (error) {
      this.error = error.message
    }
  }

  /** The client tells of no partition that it loses; what it had before and has no more is taken. */
  look () {
    const now = (this.consumer.assignments ?? []).flatMap(({ topic, partitions }) => partitions.map(p => [topic, p]))
    this.taken.push(...this.had.filter(([t, p]) => !now.some(([topic, partition]) => topic === t && partition === p)))
    this.had = now
  }

  messageBefore (topic, partition, offset) {
    return this.messages.find(m => m.topic === topic && m.partition === partition && Number(m.offset) === offset - 1)
  }

  told () {
    this.look()
    return { partitions: this.had, taken: this.taken, read: this.read, error: this.error, generation: this.consumer.generationId }
  }
}

export function memberAsks (common) {
  return {
    join: async ({ member, group, topics, protocol, session_ms: sessionTimeout, assignor, instance }) => {
      if (assignor && protocol === 'classic') {
        throw new Cannot('rebalance cooperatively')
      }
      if (instance && protocol === 'consumer') {
        throw new Cannot('come back as a static member of the consumer group protocol: its leave gives the place up')
      }
      const how = { ...common, retries: 100, groupId: group, groupProtocol: protocol, ...(instance ? { groupInstanceId: instance } : {}) }
      const times = protocol === 'classic' ? { sessionTimeout, rebalanceTimeout: Math.max(sessionTimeout, 10_000), heartbeatInterval: 300 } : {}
      const joined = new Member(new Consumer({ ...how, ...times }), group)
      members.set(member, joined)
      await joined.start(topics, times)
    },
    member: ({ member }) => members.get(member).told(),
    commit: ({ member, positions }) => members.get(member).consumer.commit({
      offsets: positions.map(([topic, partition, offset, metadata]) => {
        if (metadata) {
          throw new Cannot('add metadata to a position')
        }
        return { topic, partition, offset: BigInt(offset), leaderEpoch: -1 }
      })
    }),
    committed: async ({ member, of }) => {
      const topics = grouped(of).map(([topic, rows]) => ({ topic, partitions: rows.map(([, partition]) => partition) }))
      const told = await members.get(member).consumer.listCommittedOffsets({ topics })
      return of.map(([topic, partition]) => [topic, partition, told.get(topic)[partition], ''])
    },
    leave: async ({ member }) => {
      const { stream, consumer } = members.get(member)
      await stream.close()
      await consumer.close(true)
    }
  }
}

function grouped (rows) {
  return [...new Set(rows.map(([topic]) => topic))].map(topic => [topic, rows.filter(([t]) => t === topic)])
}

export function groupAsks (withAdmin) {
  return {
    groups: () => withAdmin(async admin => [...(await admin.listGroups()).values()].map(g => [g.id, g.protocolType, g.state, g.groupType ?? null])),
    group: ({ group }) => withAdmin(async admin => {
      const found = (await admin.describeGroups({ groups: [group] })).get(group)
      return { state: found.state, kind: found.protocolType, protocol: found.protocol, members: [...found.members.values()].map(shown) }
    }),
    group_positions: ({ group }) => withAdmin(async admin => {
      const [found] = await admin.listConsumerGroupOffsets({ groups: [group] })
      return found.topics.flatMap(t => t.partitions.map(p => [t.name, p.partitionIndex, p.committedOffset, p.metadata ?? '']))
    }),
    move: ({ group, positions }) => withAdmin(async admin => {
      const topics = grouped(positions).map(([name, rows]) => ({
        name,
        partitionOffsets: rows.map(([, partition, offset, metadata]) => {
          if (metadata) {
            throw new Cannot('add metadata to a position that an operator sets')
          }
          return { partition, offset: BigInt(offset) }
        })
      }))
      await admin.alterConsumerGroupOffsets({ groupId: group, topics })
    }),
    forget: ({ group, of }) => withAdmin(async admin => {
      const topics = grouped(of).map(([name, rows]) => ({ name, partitionIndexes: rows.map(([, partition]) => partition) }))
      await admin.deleteConsumerGroupOffsets({ groupId: group, topics })
    }),
    delete_group: ({ group }) => withAdmin(admin => admin.deleteGroups({ groups: [group] }))
  }
}

function shown (member) {
  const assigned = [...(member.assignments?.values() ?? [])]
  const partitions = assigned.flatMap(({ topic, partitions }) => partitions.map(p => [topic, p]))
  return { client: member.clientId, host: member.clientHost, instance: member.groupInstanceId, partitions }
}
